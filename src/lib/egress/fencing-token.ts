// The fencing token of the slot that a call holds, as its upstream is shown it.

/** The progress of a call. */
interface Held {
  readonly fencingToken?: string;
  notes?: { readonly [name: string]: unknown };
}

/**
 * Undefined where the call holds none. From here on it is part of the call's record, whether or not the request arrives: of a call that
 * shows it to nobody it tells nothing.
 */
export function shownFencingToken(progress: Held): string | undefined {
  const { fencingToken } = progress;
  if (fencingToken !== undefined) progress.notes = { ...progress.notes, fencing_token: fencingToken };
  return fencingToken;
}
