// StreamPace: whether the reader of a server stream keeps up.

/** The part of a gRPC server stream that tells it. */
export interface StreamPace {
  readonly writableNeedDrain: boolean;
  on(event: 'drain', listener: () => void): unknown;
  off(event: 'drain', listener: () => void): unknown;
}
