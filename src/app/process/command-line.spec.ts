import { describe, expect, it } from 'vitest';
import { answerTo } from './command-line.ts';
import { VERSION } from '../../version.ts';

describe('the program', () => {
  it('starts where nothing is asked of it', () => {
    expect(answerTo([])).toBeUndefined();
  });

  it.each(['--help', '-h'])('says how it is used, and does not start: %s', (asked) => {
    expect(answerTo([asked])).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('UTE_CONFIG') });
  });

  it('says its version, and does not start', () => {
    expect(answerTo(['--version'])).toEqual({ exitCode: 0, stdout: `${VERSION}\n` });
  });

  it.each<[readonly string[], string]>([
    [['--config', 'x.yaml'], '--config'],
    [['start'], 'start'],
    [['--help', 'me'], 'me'],
  ])('does not start with what it does not know: %j', (args, unknown) => {
    expect(answerTo(args)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(`"${unknown}"`) });
  });
});
