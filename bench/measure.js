// How the benchmarks measure and tell: rounds, medians, one line a figure, and whether all targets were met.

export const ROUNDS = 5;
export const SECONDS = 3;
/** Both sides, until the compiler has nothing left to do. */
export const WARM_UP_SECONDS = 6;

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
  const pairs = [];
  for (let round = 0; round < rounds; round += 1) pairs.push([await theirs(), await ours()]);
  return {
    base: median(pairs.map(([base]) => base)),
    own: median(pairs.map(([, own]) => own)),
    ratio: median(pairs.map(([base, own]) => own / base)),
  };
}
