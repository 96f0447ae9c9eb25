// The one vector in the answer of an embedding service, made as long as 1, so that a product of two is their cosine.

export const MOST_DIMENSIONS = 8_192;

/** `wanted`: of how many dimensions it has to be. Throws Error for what is no vector. */
export function unitVector(text: string, wanted?: number): readonly number[] {
  const vector = vectorIn(text);
  if (vector.length === 0 || vector.length > MOST_DIMENSIONS)
    throw new Error(`the vector has ${vector.length} dimensions: 1 to ${MOST_DIMENSIONS} are taken`);
  if (wanted !== undefined && vector.length !== wanted)
    throw new Error(`the vector has ${vector.length} dimensions, and not the ${wanted} that were asked for`);
  const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  if (!Number.isFinite(largest) || largest === 0) throw new Error('the vector has no direction');
  // Divided first: squares of what is very large are infinite, and of what is very small nothing.
  const scaled = vector.map((value) => value / largest);
  const length = Math.sqrt(scaled.reduce((sum, value) => sum + value * value, 0));
  return scaled.map((value) => asReal(value / length));
}

function vectorIn(text: string): readonly number[] {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    throw new Error('the embedding service answered with no JSON');
  }
  const data = memberOf(answer, 'data');
  const embedding = Array.isArray(data) && data.length === 1 ? memberOf(data[0], 'embedding') : undefined;
  if (!Array.isArray(embedding) || !embedding.every((value) => typeof value === 'number'))
    throw new Error('the embedding service answered with no list of numbers under data[0].embedding');
  return embedding;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

/** As many digits as PostgreSQL's real keeps; what it would call out of range is nothing beside a length of 1. */
function asReal(value: number): number {
  return Math.abs(value) < 1e-30 ? 0 : Number(value.toPrecision(8));
}
