// Secrets that must be found nowhere, by the place that each was put into, and every way in which a text may hold one.

export class Canaries {
  readonly #secrets: Map<string, string>;
  readonly #forms = new Map<string, readonly string[]>();

  constructor(secrets: Readonly<Record<string, string>>) {
    this.#secrets = new Map(Object.entries(secrets));
  }

  of(place: string): string {
    const secret = this.#secrets.get(place);
    if (secret === undefined) throw new Error(`no canary was put into: ${place}`);
    return secret;
  }

  add(place: string, secret: string): void {
    this.#secrets.set(place, secret);
  }

  /** Throws with the place that one of them was put into, and the form in which it is there. */
  expectNone(where: string, text: string): void {
    for (const [place, secret] of this.#secrets) {
      const known = this.#forms.get(place) ?? formsOf(secret);
      this.#forms.set(place, known);
      const found = known.filter((form) => text.includes(form));
      if (found.length > 0) throw new Error(`${where} holds the canary of ${place}: ${found.join(' | ')}`);
    }
  }
}

/** Made here anew: as it is, escaped, percent-encoded, in hex and base64, also inside of a longer text, and half of it. */
function formsOf(text: string): readonly string[] {
  const bytes = Buffer.from(text);
  const aligned = [0, 1, 2].flatMap((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    const inner = encoded.slice(offset === 0 ? 0 : 4, -4);
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
  const json = JSON.stringify(text).slice(1, -1);
  return [
    text,
    json,
    JSON.stringify(json).slice(1, -1),
    encodeURIComponent(text),
    encodeURIComponent(text).toLowerCase(),
    bytes.toString('hex'),
    ...aligned,
    text.slice(0, 12),
    text.slice(-12),
  ];
}
