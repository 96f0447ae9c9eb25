// Whole numbers as operators write them in settings and options.
import { z } from 'zod';

/** From `least` to `most`, both included. */
export function whole(least: number, most?: number) {
  const number = z.number().int().min(least);
  return most === undefined ? number : number.max(most);
}
