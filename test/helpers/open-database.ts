// The embedded database opens with its first use, which may outlast a first call's own time on a busy machine: it is used before.
import type { RunningGateway } from './running-gateway.ts';

export async function openDatabase({ url, keys }: RunningGateway): Promise<void> {
  const headers = { authorization: `Bearer ${keys.admin.text}` };
  // How long it takes is no business of a test.
  for (let status = 0; status !== 200;) ({ status } = await fetch(`${url}/v1/approvals`, { headers }));
}
