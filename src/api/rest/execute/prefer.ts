// The Prefer header (RFC 7240): what a caller would rather have. What is not understood is ignored, as the RFC says.

export interface Preferences {
  /** Answer at once that the call is accepted, and run it later. */
  readonly respondAsync: boolean;
  /** How long to wait for something that is under way. */
  readonly waitMs?: number;
}

const NONE: Preferences = Object.freeze({ respondAsync: false });
const MAX_LENGTH = 1_000;

export function readPrefer(header: string | string[] | undefined): Preferences {
  if (header === undefined) return NONE;
  const text = Array.isArray(header) ? header.join(',') : header;
  if (text.length > MAX_LENGTH) return NONE;
  const wishes = text.split(',').map((wish) => wish.split(';')[0]?.trim().toLowerCase() ?? '');
  const wait = wishes.map((wish) => /^wait\s*=\s*"?(\d{1,4})"?$/.exec(wish)?.[1]).find(Boolean);
  return {
    respondAsync: wishes.includes('respond-async'),
    ...(wait !== undefined && { waitMs: Number(wait) * 1_000 }),
  };
}
