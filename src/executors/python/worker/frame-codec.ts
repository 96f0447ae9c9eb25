// What the frames on the worker's channel hold.
// A request is `HEAD\nBODY`, both JSON; what comes back is a request's id, one letter for its kind, and the content.

const ID_LENGTH = 22;

/** How a frame from the worker begins, besides the id. */
const FRAME_KINDS = {
  a: 'answer',
  d: 'ended',
  y: 'partial',
  p: 'progress',
  o: 'stdout',
  e: 'stderr',
  l: 'leaving',
} as const;

export type FrameKind = (typeof FRAME_KINDS)[keyof typeof FRAME_KINDS];

export interface WorkerFrame {
  readonly id: string;
  readonly kind: FrameKind;
  readonly content: Buffer;
}

/** Undefined: no honest worker sends this. */
export function readFrame(frame: Buffer): WorkerFrame | undefined {
  if (frame.length <= ID_LENGTH) return undefined;
  const letter = String.fromCharCode(frame[ID_LENGTH] ?? 0);
  if (!isKind(letter)) return undefined;
  const id = frame.toString('latin1', 0, ID_LENGTH);
  return { id, kind: FRAME_KINDS[letter], content: frame.subarray(ID_LENGTH + 1) };
}

function isKind(letter: string): letter is keyof typeof FRAME_KINDS {
  return Object.hasOwn(FRAME_KINDS, letter);
}
