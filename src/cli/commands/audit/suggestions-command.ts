// `ute suggestions`: what the calls of a tenant suggest, as a running gateway counts them.
import type { Command } from 'commander';
import { isJsonObject, type JsonObject } from '../../../contract/json.ts';
import type { CliIo } from '../../cli-io.ts';
import { EXIT, type ExitCode } from '../../exit-code.ts';
import { table } from '../../table.ts';
import { figuresOf, withFigureOptions, word, type FiguresOptions } from './analytics-command.ts';

export function addSuggestionsCommand(program: Command, io: CliIo, finish: (code: ExitCode) => void): void {
  withFigureOptions(program.command('suggestions'))
    .summary('what the calls of a tenant suggest')
    .description(
      'Which tools to offer after which, to put together, to mend and to leave out, from the calls of the last seven days, or of up to 31. The key needs calls:read.',
    )
    .action(async (options: FiguresOptions) => {
      const found = await figuresOf('/v1/suggestions', options, io);
      io.stdout(options.json ? `${JSON.stringify(found, null, 2)}\n` : textOf(found));
      finish(EXIT.ok);
    });
}

function textOf({ suggestions }: JsonObject): string {
  const rows = Array.isArray(suggestions) ? suggestions.filter(isJsonObject) : [];
  if (rows.length === 0) return 'nothing to suggest\n';
  return table(
    ['KIND', 'TOOLS', 'SESSIONS', 'CALLS', 'SHARE', 'ERROR', 'REASON'],
    rows.map(({ kind, tools, sessions, calls, share, error_type: type, reason }) => [
      word(kind),
      Array.isArray(tools) ? tools.map(word).join(' > ') : '',
      ...[sessions, calls, share, type, reason].map(word),
    ]),
  );
}
