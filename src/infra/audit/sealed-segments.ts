// SealedSegments: the complete files of the journal, oldest first, with what they hold together.
import type { Segment } from './segment-folder.ts';

export class SealedSegments {
  #list: readonly Segment[] = [];
  bytes = 0;
  records = 0;

  /** Stays as it is while others are added and removed. */
  get list(): readonly Segment[] {
    return this.#list;
  }

  add(segment: Segment): void {
    this.#list = [...this.#list, segment];
    this.bytes += segment.bytes;
    this.records += segment.records;
  }

  remove(segment: Segment): void {
    if (!this.#list.includes(segment)) return;
    this.#list = this.#list.filter((each) => each !== segment);
    this.bytes -= segment.bytes;
    this.records -= segment.records;
  }
}
