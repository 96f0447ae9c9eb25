// LoopLag: how late the event loop runs what is due. The one number that says that this process has too much to do.

export interface LoopLag {
  /** 99th percentile of a short window just past, in milliseconds; 0 as long as nothing is known. Costs nothing to ask. */
  p99Ms(): number;
}
