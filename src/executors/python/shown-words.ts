// What a tool says while it runs, as it is shown: without the secrets of the call, and cut after they are out.
import type { CallEvent, CallScrubber } from '../../contract/call/tool-call.ts';

/** The worker leaves more than twice as much: see SecretScrubber.cut. */
const MAX_PROGRESS = 500;

export function shownEvent(event: CallEvent, { cut }: CallScrubber): CallEvent {
  if (event.kind === 'partial' || event.message === undefined) return event;
  return { ...event, message: cut(event.message, MAX_PROGRESS) };
}

/** `isCut`: the line goes on, and its end may be the first half of a secret. */
export function shownLine(line: string, isCut: boolean, { text, cut }: CallScrubber): string {
  return isCut ? cut(line, (line.length - 1) >> 1) : text(line);
}
