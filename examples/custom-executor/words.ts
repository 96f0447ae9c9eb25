// words: an executor of the operator's own. A tool of this type picks a line from a list that stands in its declaration.
import type { ExecutorModule } from 'unified-tool-executor/plugin';

interface Words {
  readonly lines: Readonly<Record<string, string>>;
}

interface Settings {
  readonly fallback: string;
}

/** The gateway hands over what a module needs from it: at run time this file imports nothing. */
export const executor: ExecutorModule<Words, ['log'], Settings> = ({ z, ToolFailure }) => ({
  name: 'words',
  summary: 'Answers with one of the lines that stand in the declaration.',
  optionsSchema: z.strictObject({
    lines: z.record(z.string(), z.string().min(1)).describe('The lines by language.'),
  }),
  // What gateway.yaml may say for all tools of this type, under executors.words.
  settingsSchema: () => z.strictObject({ fallback: z.string().default('en') }),

  // The ports that create() gets, besides its own settings.
  needs: ['log'],
  create: ({ settings: { fallback }, log }) => ({
    /** At load: what is wrong here refuses the tools, with this sentence. */
    prepare({ function: fn, options: { lines } }) {
      const fallbackLine = lines[fallback];
      if (fallbackLine === undefined)
        throw new Error(`lines: the fallback language "${fallback}" is missing.`);
      log.debug({ tool: fn.name }, 'words are ready');
      return {
        async execute({ arguments: { language } }) {
          const wanted = typeof language === 'string' ? language : fallback;
          const line = Object.hasOwn(lines, wanted) ? lines[wanted] : undefined;
          if (line === undefined && wanted.length > 2) {
            throw new ToolFailure('PERMANENT', 'Languages have two letters here.', { origin: 'tool' });
          }
          return { data: { text: line ?? fallbackLine, exact: line !== undefined } };
        },
        render: ({ arguments: { language = null } }) => ({ language }),
      };
    },
  }),
});
