// SealedSegments: the complete files of the journal, oldest first, with what they hold together; and the one before it is complete.
import type { Segment, SegmentFile } from './segment-folder.ts';

/** The file that is being written. */
export interface OpenSegment {
  readonly file: SegmentFile;
  readonly mayRepeat: boolean;
  bytes: number;
  records: number;
  since: number;
}

export function openSegment(file: SegmentFile, mayRepeat: boolean): OpenSegment {
  return { file, mayRepeat, bytes: 0, records: 0, since: 0 };
}

export function sealedOf({ file: { path }, ...rest }: OpenSegment): Segment {
  return { path, ...rest };
}

export class SealedSegments {
  #list: readonly Segment[] = [];
  bytes = 0;
  records = 0;

  /** Stays as it is while others are added and removed. */
  get list(): readonly Segment[] {
    return this.#list;
  }

  add(segment: Segment): void {
    this.expect(segment)();
  }

  /** Counted from now on, and in the list when the function is called: while a file is closed, there is no room for more. */
  expect(segment: Segment): () => void {
    this.bytes += segment.bytes;
    this.records += segment.records;
    return () => {
      this.#list = [...this.#list, segment];
    };
  }

  remove(segment: Segment): void {
    if (!this.#list.includes(segment)) return;
    this.#list = this.#list.filter((each) => each !== segment);
    this.bytes -= segment.bytes;
    this.records -= segment.records;
  }
}
