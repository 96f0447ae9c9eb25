// Language tags as BCP 47 writes them: `de`, `pt-BR`, `zh-Hant-TW`.

const LONGEST = 35;
const TAG = /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8}){0,8}$/;

export function isLanguageTag(text: string): boolean {
  return text.length <= LONGEST && TAG.test(text);
}

/** What is there for a language: of its own tag, or of a shorter one, `pt` for `pt-BR`. Keys are in lower case. */
export function forLanguage<Value>(
  values: ReadonlyMap<string, Value>,
  tag: string | undefined,
): Value | undefined {
  for (
    let rest = tag?.toLowerCase() ?? '';
    rest !== '';
    rest = rest.slice(0, Math.max(0, rest.lastIndexOf('-')))
  ) {
    const value = values.get(rest);
    if (value !== undefined) return value;
  }
  return undefined;
}
