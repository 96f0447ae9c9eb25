// International bank account numbers: as long as their country has them, with the remainder 1 of 97, in one or in groups.
import { blanksAt, isAsciiWord, isDigit, isUpper, plainCode } from './characters.ts';
import type { Detector, Span } from './detector.ts';

const LENGTHS = new Map(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 ES24 FI18 FO18 ' +
    'FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 ' +
    'LY25 MC27 MD24 ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SD18 SE24 SI19 SK24 ' +
    'SM27 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20'
  )
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

export const iban: Detector = {
  overlaps: true,
  find(text, from, limit) {
    for (let at = from; at < limit; at += 1) {
      const first = plainCode(text, at);
      if (!isUpper(first) || isAsciiWord(plainCode(text, at - 1))) continue;
      const length = LENGTHS.get(String.fromCharCode(first, plainCode(text, at + 1)));
      const span = length === undefined ? undefined : ibanAt(text, at, length);
      if (span !== undefined) return span;
    }
    return undefined;
  },
};

function ibanAt(text: string, start: number, length: number): Span | undefined {
  const codes: number[] = [];
  let at = start;
  while (codes.length < length) {
    at += blanksAt(text, at);
    const code = plainCode(text, at);
    if (!isDigit(code) && !isUpper(code)) return undefined;
    codes.push(code);
    at += 1;
  }
  if (isAsciiWord(plainCode(text, at))) return undefined;
  const remainder = [...codes.slice(4), ...codes.slice(0, 4)].reduce(append, 0);
  return remainder === 1 ? { start, end: at } : undefined;
}

/** A letter stands for two digits: A is 10. */
function append(remainder: number, code: number): number {
  return isDigit(code) ? (remainder * 10 + code - 48) % 97 : (remainder * 100 + code - 55) % 97;
}
