// What stands for a secret already: no scrubber looks into it.
export class Sealed {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}
