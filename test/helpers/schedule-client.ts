// Schedules as a REST client uses them.
import { sendTo, type RestTarget, type Sent } from './rest-client.ts';

export interface WireRun {
  readonly call_id: string;
  readonly fire_time: string;
  readonly status: string;
  readonly error_type: string | null;
  readonly finished_at: string | null;
}

export interface WireSchedule {
  readonly id: string;
  readonly understood: Record<string, string>;
  readonly next_run: string | null;
  readonly next_runs?: readonly string[];
  readonly last_runs?: readonly WireRun[];
  readonly [field: string]: unknown;
}

export function makeSchedule(
  target: RestTarget,
  asked: object,
  headers?: Record<string, string>,
): Promise<Sent<WireSchedule>> {
  return sendTo<WireSchedule>(target, 'POST', '/v1/schedules', asked, headers);
}

export async function runsOf(target: RestTarget, id: string): Promise<readonly WireRun[]> {
  return (await sendTo<WireSchedule>(target, 'GET', `/v1/schedules/${id}`)).body.last_runs ?? [];
}

/** Its last run, once there is one and it has ended. */
export async function lastRun(target: RestTarget, id: string, withinMs = 15_000): Promise<WireRun> {
  for (const giveUpAt = Date.now() + withinMs; Date.now() < giveUpAt;) {
    const [run] = await runsOf(target, id);
    if (run !== undefined && run.finished_at !== null) return run;
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error(`schedule ${id} did not run`);
}
