// int(text) and double(text) of expressions: digits as JSON writes numbers, or an error. The library reads "" as 0 and "abc" as NaN.
import { celFunc, CelScalar, type CelFunc } from '@bufbuild/cel';

const { STRING, INT, DOUBLE } = CelScalar;
const WHOLE = /^-?\d{1,19}$/;
const NUMBER = /^-?\d{1,400}(\.\d{1,400})?([eE][+-]?\d{1,4})?$/;
const LEAST = -(2n ** 63n);
const MOST = 2n ** 63n - 1n;

/** What the evaluation of anything else ends with. */
export const NO_NUMBER = 'the text is no number';

export const NUMBERS_OF_TEXT: readonly CelFunc[] = [
  celFunc('int', [STRING], INT, (text) => {
    const whole = WHOLE.test(text) ? BigInt(text) : undefined;
    if (whole === undefined || whole < LEAST || whole > MOST) throw new Error(NO_NUMBER);
    return whole;
  }),
  celFunc('double', [STRING], DOUBLE, (text) => {
    const number = NUMBER.test(text) ? Number(text) : Number.NaN;
    if (!Number.isFinite(number)) throw new Error(NO_NUMBER);
    return number;
  }),
];
