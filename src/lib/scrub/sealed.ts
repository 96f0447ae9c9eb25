// What stands in the place of a secret.

export const SECRET_MARK = '[secret]';

/** What stands for a secret already: no scrubber looks into it. */
export class Sealed {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}
