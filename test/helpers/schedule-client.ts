// Schedules as a REST client uses them.
import { sendTo, type RestTarget, type Sent } from './rest-client.ts';
import { eventually } from './eventually.ts';

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
export function lastRun(target: RestTarget, id: string): Promise<WireRun> {
  return eventually(async () => {
    const [run] = await runsOf(target, id);
    return run !== undefined && run.finished_at !== null && run;
  }, `a run of schedule ${id}`);
}
