// What a character is, by its code: for detectors that walk over a text themselves.

export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

export function isUpper(code: number): boolean {
  return code >= 65 && code <= 90;
}

export function isAsciiWord(code: number): boolean {
  return isDigit(code) || isUpper(code) || (code >= 97 && code <= 122);
}
