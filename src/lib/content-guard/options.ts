// What both directions say of how much is looked through.
import { whole } from '../settings/whole.ts';

export const maxCharacters = whole(1_024, 64 << 20)
  .default(8 << 20)
  .describe(
    'The most that is looked through: a value with more text, names and values than this is refused.',
  );
