// What the program itself takes on its command line: nothing but a question. It is set up by files and the environment.
import { VERSION } from '../../version.ts';

const USAGE = `Usage: unified-tool-executor

Serves the gateway until SIGTERM. It takes no arguments: settings come from config/gateway.yaml, or the file that
UTE_CONFIG names, and from variables UTE_…; docs/reference/settings.md lists them all. In a folder without that file,
npx unified-tool-executor serves the demo of the package; node dist/bundle/main.js the defaults.

  --help      this text
  --version   the version

Other commands, such as checking settings without starting: npx ute --help
`;

/** What a start with arguments comes to, which is no start. */
export interface Said {
  readonly exitCode: 0 | 2;
  readonly stdout?: string;
  readonly stderr?: string;
}

/** Undefined: nothing was asked, so the gateway starts. */
export function answerTo([first, ...more]: readonly string[]): Said | undefined {
  if (first === undefined) return undefined;
  const isHelp = first === '--help' || first === '-h';
  const isVersion = first === '--version';
  if (isHelp && more.length === 0) return { exitCode: 0, stdout: USAGE };
  if (isVersion && more.length === 0) return { exitCode: 0, stdout: `${VERSION}\n` };
  const unknown = isHelp || isVersion ? more[0] : first;
  return {
    exitCode: 2,
    stderr: `unified-tool-executor takes no argument ${JSON.stringify(unknown)}; see --help\n`,
  };
}
