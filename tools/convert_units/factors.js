// What one of each unit is in metres, kilograms and degrees Celsius.

const length = (factor) => ({ kind: 'length', factor, offset: 0 });
const mass = (factor) => ({ kind: 'mass', factor, offset: 0 });

export const FACTORS = {
  m: length(1),
  km: length(1000),
  mi: length(1609.344),
  ft: length(0.3048),
  g: mass(0.001),
  kg: mass(1),
  lb: mass(0.45359237),
  C: { kind: 'temperature', factor: 1, offset: 0 },
  F: { kind: 'temperature', factor: 5 / 9, offset: -160 / 9 },
};
