// words: an executor of the operator's own. A tool of this type picks a line from a list that stands in its declaration.

/** The gateway hands over what a module needs from it, so this file imports nothing. */
export function executor({ z, ToolFailure }) {
  return {
    name: 'words',
    summary: 'Answers with one of the lines that stand in the declaration.',
    optionsSchema: z.strictObject({
      lines: z.record(z.string(), z.string().min(1)).describe('The lines by language.'),
    }),
    // What gateway.yaml may say for all tools of this type, under executors.words.
    settingsSchema: () => z.strictObject({ fallback: z.string().default('en') }),

    // The ports that create() gets, besides its own settings.
    needs: ['log'],
    create({ settings, log }) {
      return {
        /** At load: what is wrong here refuses the tools, with this sentence. */
        prepare({ function: fn, options: { lines } }) {
          if (!Object.hasOwn(lines, settings.fallback)) {
            throw new Error(`lines: the fallback language "${settings.fallback}" is missing.`);
          }
          log.debug({ tool: fn.name }, 'words are ready');
          return {
            async execute({ arguments: { language } }) {
              const known = Object.hasOwn(lines, language);
              if (!known && language.length > 2) {
                throw new ToolFailure('PERMANENT', 'Languages have two letters here.', { origin: 'tool' });
              }
              return { data: { text: lines[known ? language : settings.fallback], exact: known } };
            },
            render: ({ arguments: { language } }) => ({ language }),
          };
        },
      };
    },
  };
}
