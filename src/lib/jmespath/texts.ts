// Texts in expressions: found, turned round and counted in time that grows with their length, and paid for first.
import type { Work } from './work.ts';

/** Up to here the engine's own search is quick however the texts are made. */
const SHORT = 32;

/** Never falls back to comparing the part at every place: String.includes takes half a minute for some texts of 256 KiB. */
export function containsText(text: string, part: string, work: Work): boolean {
  if (part.length > text.length) return false;
  if (part.length <= SHORT) return text.includes(part);
  work.spend((text.length + part.length) / 2);
  const fallback = fallbacksOf(part);
  let matched = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    while (matched > 0 && unit !== part.charCodeAt(matched)) matched = fallback[matched - 1] ?? 0;
    if (unit === part.charCodeAt(matched)) matched += 1;
    if (matched === part.length) return true;
  }
  return false;
}

/** Knuth, Morris and Pratt: for each beginning of the part, the longest shorter one that it ends with. */
function fallbacksOf(part: string): Uint32Array {
  const fallback = new Uint32Array(part.length);
  let matched = 0;
  for (let at = 1; at < part.length; at += 1) {
    const unit = part.charCodeAt(at);
    while (matched > 0 && unit !== part.charCodeAt(matched)) matched = fallback[matched - 1] ?? 0;
    if (unit === part.charCodeAt(matched)) matched += 1;
    fallback[at] = matched;
  }
  return fallback;
}

/** By characters: the two halves of one stay in their order. */
export function reversedText(text: string, work: Work): string {
  work.spend(text.length / 2);
  const units = new Uint16Array(text.length);
  let to = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    const next = text.charCodeAt(at + 1);
    if (isHigh(unit) && isLow(next)) {
      units[(to -= 1)] = next;
      at += 1;
    }
    units[(to -= 1)] = unit;
  }
  return Buffer.from(units.buffer).toString('utf16le');
}

export function charactersOf(text: string, work: Work): number {
  work.spend(text.length / 8);
  let count = text.length;
  for (let at = 0; at + 1 < text.length; at += 1) {
    if (!isHigh(text.charCodeAt(at)) || !isLow(text.charCodeAt(at + 1))) continue;
    count -= 1;
    at += 1;
  }
  return count;
}

function isHigh(unit: number): boolean {
  return (unit & 0xfc00) === 0xd800;
}

function isLow(unit: number): boolean {
  return (unit & 0xfc00) === 0xdc00;
}
