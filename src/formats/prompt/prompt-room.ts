// PromptRoom: how much a prompt says of one tool. A schema that refers to itself, or often to the same part, would be written without end.

/** Of what is written, each time that it is. More than a schema without references can have. */
const PARTS = 4_000;
/** A schema is at most 64 KiB. */
const CHARACTERS = 128 * 1024;

export class PromptRoom {
  #parts = PARTS;
  #characters = CHARACTERS;

  /** False: there is no more room, and this is left out. */
  take(text = ''): boolean {
    if (this.#parts <= 0 || text.length > this.#characters) {
      // What comes after it is left out as well: it would look as if there were nothing between.
      this.#parts = 0;
      return false;
    }
    this.#parts -= 1;
    this.#characters -= text.length;
    return true;
  }

  get isFull(): boolean {
    return this.#parts <= 0;
  }
}

/** Stands where something is left out. */
export const LEFT_OUT = '…';
