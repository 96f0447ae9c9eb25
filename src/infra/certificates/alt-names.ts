// The alternative names of a certificate, out of the one text that Node makes of them.

/** A kind, a colon, and a value: in quotation marks, as JSON, where it holds anything that could be taken for another name. */
const NAME = /(?:^|(?<=.), )([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^",]*)/y;

/** As `DNS:a.example.com`, `URI:spiffe://…`. None where any part cannot be read: half a list would be another one. */
export function altNames(text: string): ReadonlySet<string> {
  const names = new Set<string>();
  NAME.lastIndex = 0;
  for (let at = 0; at < text.length; at = NAME.lastIndex) {
    const [, kind = '', value = ''] = NAME.exec(text) ?? [];
    const said = value.startsWith('"') ? unquoted(value) : value;
    if (kind === '' || said === undefined) return new Set();
    names.add(`${kind}:${said}`);
  }
  return names;
}

function unquoted(value: string): string | undefined {
  try {
    return String(JSON.parse(value));
  } catch {
    return undefined;
  }
}
