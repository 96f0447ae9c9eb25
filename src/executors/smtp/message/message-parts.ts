// The parts of a message, each filled in the way that its place needs: addresses, a line, a text, HTML, files.
import { isExactNumber } from '../../../lib/json/exact-json.ts';
import { soleName } from '../../../lib/text/template.ts';
import { isOfAgent, type CallValues } from './call-values.ts';
import { parseAddress, type MailAddress } from './mail-address.ts';
import { mailTemplate, NOT_IN_LINE } from '../options-schema.ts';

type Fill<Part> = (values: CallValues) => Part;

const NOT_IN_TEXT = /(?![\t\n\r])\p{Cc}/u;
/** RFC 5322 has lines of 998; a folded subject may be longer, and none is that long on purpose. */
const MOST_LINE = 998;
const MOST_NAMED = 100;
const ADDRESS_EXPECTED =
  'must be a plain address such as ann@example.com, without a name, quotes or comments';

/** `isGiven`: an argument named it, and not the operator. */
export type NamedAddress = MailAddress & { readonly isGiven: boolean };

export function fillAddresses(said: string | readonly string[] | undefined): Fill<readonly NamedAddress[]> {
  const places = (typeof said === 'string' ? [said] : (said ?? [])).map((text) => {
    const name = soleName(mailTemplate(text));
    if (name !== undefined) return name;
    const literal = parseAddress(text.replaceAll('{{', '{').replaceAll('}}', '}'));
    return literal === undefined ? [] : [{ ...literal, isGiven: false }];
  });
  return (values) =>
    places.flatMap((place) => (typeof place === 'string' ? addressesOf(values, place) : place));
}

/** A text may name several, with commas between them; each member of a list is one. */
function addressesOf(values: CallValues, name: string): readonly NamedAddress[] {
  const value = values.of(name);
  if (value === undefined) return [];
  const isList = Array.isArray(value);
  const texts: readonly unknown[] = isList ? value : typeof value === 'string' ? value.split(',') : [value];
  if (texts.length > MOST_NAMED) {
    values.refuse(name, `must name at most ${MOST_NAMED} recipients`);
    return [];
  }
  return texts.flatMap((text, index) => {
    const address = typeof text === 'string' ? parseAddress(isList ? text : trimmed(text)) : undefined;
    if (address !== undefined) return [{ ...address, isGiven: !isOfAgent(name) }];
    values.refuse(name, ADDRESS_EXPECTED, isList ? index : undefined);
    return [];
  });
}

/** Blanks alone: a line end beside an address is none of its separators. */
function trimmed(text: string): string {
  return text.replaceAll(/^ +| +$/g, '');
}

/** One line; undefined where nothing fills it. */
export function fillLine(said: string | undefined): Fill<string | undefined> {
  return filled(said, (text, name, values) => {
    if (NOT_IN_LINE.test(text)) values.refuse(name, 'must be one line of text, without control characters');
    else if (text.length > MOST_LINE) values.refuse(name, `must have at most ${MOST_LINE} characters`);
    return text;
  });
}

export function fillText(said: string | undefined): Fill<string | undefined> {
  return filled(said, plainText);
}

/** Values that stand in HTML of the operator's are text there; one that is all of it is HTML. */
export function fillHtml(said: string | undefined): Fill<string | undefined> {
  if (said === undefined || soleName(mailTemplate(said)) !== undefined) return fillText(said);
  return filled(said, (text, name, values) => escaped(plainText(text, name, values)));
}

function plainText(text: string, name: string, values: CallValues): string {
  if (NOT_IN_TEXT.test(text)) values.refuse(name, 'must be text, without control characters');
  return text;
}

type Write = (text: string, name: string, values: CallValues) => string;

function filled(said: string | undefined, write: Write): Fill<string | undefined> {
  if (said === undefined) return () => undefined;
  const template = mailTemplate(said);
  const isOne = soleName(template) !== undefined;
  return (values) => {
    let isAbsent = false;
    const texts = template.parts.map((part) => {
      if (typeof part === 'string') return part;
      const text = scalar(values, part.name);
      isAbsent ||= text === undefined;
      return text === undefined ? '' : write(text, part.name, values);
    });
    return isOne && isAbsent ? undefined : texts.join('');
  };
}

function scalar(values: CallValues, name: string): string | undefined {
  const value = values.of(name);
  if (value === undefined) return undefined;
  if (isExactNumber(value)) return value.rawJSON;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'string' && value.isWellFormed()) return value;
  return values.refuse(name, 'must be text, a number or a boolean here');
}

const ENTITIES: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
