// A Dockerfile as its stages and steps, and what its build stage does, done in a folder: where there is no container engine.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';

export interface Step {
  readonly instruction: string;
  readonly text: string;
}

export interface Stage {
  readonly name: string;
  readonly steps: readonly Step[];
}

/** Without comments, each step on one line; what comes before the first FROM is in no stage. */
export function stagesOf(dockerfile: string): readonly Stage[] {
  const lines = dockerfile
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const steps = lines.map((line) => {
    const [, instruction = '', text = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    if (instruction === '') throw new Error(`no step of a Dockerfile: ${line}`);
    return { instruction, text };
  });
  const starts = steps.flatMap(({ instruction }, index) => (instruction === 'FROM' ? [index] : []));
  return starts.map((start, index) => {
    const [from, ...rest] = steps.slice(start, starts[index + 1]);
    return { name: / AS (\w+)$/.exec(from?.text ?? '')?.[1] ?? '', steps: rest };
  });
}

export interface Build {
  /** The repository. */
  readonly context: string;
  /** Stands for the image's root. */
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Every step of a stage in its order. Commands must not leave the stage's folder: nothing holds them in it. */
export function runStage(stage: Stage, { context, root, env }: Build): void {
  let dir = root;
  for (const { instruction, text } of stage.steps) {
    if (instruction === 'WORKDIR') mkdirSync((dir = join(root, text)), { recursive: true });
    else if (instruction === 'COPY') copy(text, context, dir);
    else if (instruction === 'RUN')
      execFileSync('sh', ['-ec', text], {
        cwd: dir,
        env,
        stdio: ['ignore', 'ignore', 'inherit'],
        timeout: 400_000,
      });
    else throw new Error(`a step that is not known here: ${instruction} ${text}`);
  }
}

/** As Docker does: the content of a folder into a folder, files beside each other into one that ends with a slash. */
function copy(text: string, context: string, dir: string): void {
  const paths = text.split(' ');
  const target = join(dir, paths.pop() ?? '');
  for (const path of paths) {
    const source = join(context, path);
    if (!existsSync(source)) throw new Error(`COPY ${path}: there is none`);
    const isFolder = statSync(source).isDirectory();
    cpSync(source, isFolder ? target : join(target, basename(path)), { recursive: true });
  }
}
