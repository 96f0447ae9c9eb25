// How the benchmarks measure and tell: rounds, medians, one line a figure, and whether all targets were met.

export const ROUNDS = 5;
export const SECONDS = 3;
/** Both sides, until the compiler has nothing left to do. */
export const WARM_UP_SECONDS = 10;

const rows = [];

export const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
export const number = (value) => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(2));

export function report(name, figure, baseline, ratio, target, met) {
  rows.push({ name, met });
  process.stdout.write(
    `${met ? 'met   ' : 'MISSED'}  ${name}: ${figure}; baseline ${baseline}; ${ratio} (target ${target})\n`,
  );
}

export const allMet = () => rows.every(({ met }) => met);

/** Alternates both sides, so that a noisy machine is noisy for both: the medians and the median ratio of the pairs. */
export async function compare(theirs, ours, rounds = ROUNDS) {
  return mediansOf(await alternated(theirs, ours, rounds));
}

/** One figure of each side a round. */
export async function alternated(theirs, ours, rounds) {
  const pairs = [];
  for (let round = 0; round < rounds; round += 1) pairs.push([await theirs(), await ours()]);
  return pairs;
}

export function mediansOf(pairs) {
  return {
    base: median(pairs.map(([base]) => base)),
    own: median(pairs.map(([, own]) => own)),
    ratio: median(pairs.map(([base, own]) => own / base)),
  };
}

/** Of both sides; the one that is started first changes from time to time. */
const STARTS = 5;
/** Rounds of one start: what it was given at its start it keeps, so that more of them say little. */
export const ROUNDS_OF_A_START = 3;

/**
 * A process keeps for its life what chance gave it at its start: two of the same gateway were seen to differ by a tenth and more. So
 * what is held to a few percent is measured on several. `theirs` and `ours` start a gateway each; `measure` is given both, and gives
 * the pairs of `alternated` by the names of what was measured.
 */
export async function comparedStarts({ theirs, ours }, measure) {
  const all = {};
  for (let count = 0; count < STARTS; count += 1) {
    const [first, second] = count % 2 === 0 ? [theirs, ours] : [ours, theirs];
    const started = [await first(), await second()];
    const [base, own] = count % 2 === 0 ? started : started.toReversed();
    for (const [name, pairs] of Object.entries(await measure(base, own))) (all[name] ??= []).push(...pairs);
    await Promise.all([base.stop(), own.stop()]);
  }
  return all;
}
