// convert_units: length, mass and temperature.
import { FACTORS } from './factors.js';

export function execute({ value, from, to }) {
  return { value: Number(converted(value, from, to).toPrecision(6)), unit: to };
}

function converted(value, from, to) {
  const [source, target] = [FACTORS[from], FACTORS[to]];
  if (source.kind !== target.kind) {
    const message = `${from} is a unit of ${source.kind}, and ${to} one of ${target.kind}.`;
    throw Object.assign(new Error(message), { type: 'VALIDATION', reason: 'UNITS_DIFFER' });
  }
  return (value * source.factor + source.offset - target.offset) / target.factor;
}
