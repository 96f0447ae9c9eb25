// A human who approves what an example waits for.
import type { RunningGateway } from '../helpers/running-gateway.ts';

export async function approved({ url, keys }: RunningGateway, id: string): Promise<void> {
  const response = await fetch(`${url}/v1/approvals/${id}/decision`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${keys.admin.text}` },
    body: JSON.stringify({ decision: 'approve' }),
  });
  if (!response.ok) throw new Error(`the approval was answered with ${response.status}`);
}
