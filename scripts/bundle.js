// Puts the program and the packages it uses into a few files: to find, read and link 2,000 small ones is most of a start.
// From dist/main.js to dist/bundle/main.js. Threads, child processes and assets stay where they are, and are found there.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { rolldown } from 'rolldown';
import { parseAst } from 'rolldown/parseAst';
import { Visitor } from 'rolldown/utils';

const DIST = join(import.meta.dirname, '../dist');
const OUT = join(DIST, 'bundle');

/** What libraries load where it is installed, and this program does without. */
const OPTIONAL = [
  '@fastify/multipart',
  '@fastify/view',
  '@nats-io/transport-node',
  '@nestjs/platform-express',
  '@nestjs/websockets/socket-module.js',
  'amqp-connection-manager',
  'amqplib',
  'class-transformer',
  'class-validator',
  'kafkajs',
  'mqtt',
  'msgpackr-extract',
  'pg-native',
  'pino-pretty',
];

/**
 * A module of the bundle that knows where the bundle is. What lies in a package is looked for where Node would look: where
 * this program is itself installed as a package, the others lie beside it, and not in a folder of its own.
 */
const PLACE = 'bundle:place';
const PLACE_CODE = `import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
const packages = /^(?:\\.\\.\\/)+node_modules\\/(.*)$/;
const foldersAbove = (folder) => {
  const above = new URL('../', folder);
  return above.href === folder.href ? [folder] : [folder, ...foldersAbove(above)];
};
const folders = foldersAbove(new URL('./', import.meta.url));
export const urlOf = (file) => {
  const own = new URL(file, import.meta.url);
  const inside = packages.exec(file)?.[1];
  if (inside === undefined || existsSync(own)) return own.href;
  const found = folders.map((folder) => new URL('node_modules/' + inside, folder)).find((each) => existsSync(each));
  return (found ?? own).href;
};
export const pathOf = (file) => fileURLToPath(urlOf(file));`;

const fromOut = (path) => JSON.stringify(relative(OUT, path).split(sep).join('/'));

/** Each module goes on to see its own place, so that what lies beside it is found; and its map, where tsc wrote one. */
const ownPlaces = {
  name: 'own-places',
  resolveId: { filter: { id: /^bundle:place$/ }, handler: (id) => `\0${id}` },
  load(id) {
    if (id === `\0${PLACE}`) return PLACE_CODE;
    if (!id.startsWith(DIST)) return null;
    return { code: readFileSync(id, 'utf8'), map: readFileSync(`${id}.map`, 'utf8') };
  },
  transform: {
    filter: { id: { exclude: /^\0|^rolldown\// }, code: /import\.meta\.url|__dirname|__filename/ },
    handler(code, id) {
      // On the first line, so that lines keep their numbers.
      if (/^(import|export)\b/m.test(code)) {
        const own = code.replaceAll('import.meta.url', `__urlOf(${fromOut(id)})`);
        return { code: `import { urlOf as __urlOf } from '${PLACE}'; ${own}`, map: null };
      }
      const names = `__dirname = __pathOf(${fromOut(dirname(id))}), __filename = __pathOf(${fromOut(id)})`;
      return { code: `const { pathOf: __pathOf } = require('${PLACE}'), ${names}; ${code}`, map: null };
    },
  },
};

/**
 * What the program takes of its own from elsewhere at run time, such as handlers, is asked of what loads the chunks: a script
 * has no import of its own. What stands in the bundle is left as it is, for the bundler.
 */
const isBundled = (source) =>
  source.type === 'Literal' && !isBuiltin(source.value) && !OPTIONAL.includes(source.value);
const importsElsewhere = {
  name: 'imports-elsewhere',
  transform: {
    filter: { id: { exclude: /^\0|^rolldown\// }, code: /\bimport\s*\(/ },
    handler(code) {
      const starts = [];
      const visitor = new Visitor({
        ImportExpression({ start, source }) {
          if (!isBundled(source)) starts.push(start);
        },
      });
      visitor.visit(parseAst(code));
      const edited = starts.reduceRight(
        (text, start) => `${text.slice(0, start)}__${text.slice(start)}`,
        code,
      );
      return { code: edited, map: null };
    },
  },
};

/** The program itself, which main.js loads by what keeps compiled code, and not by Node's own loader. */
const PROGRAM = join(DIST, 'app/process/run-process.js');
const LOADER = '\0loader';
let isLoaded = false;
const ownLoader = {
  name: 'own-loader',
  resolveId(id, importer) {
    if (importer === undefined || resolve(dirname(importer), id) !== PROGRAM) return null;
    isLoaded = true;
    return LOADER;
  },
  load: (id) =>
    id === LOADER
      ? `import { loadProgram } from ${JSON.stringify(join(DIST, 'app/process/load-program.js'))};
loadProgram(import.meta.dirname);`
      : null,
};

rmSync(OUT, { recursive: true, force: true });
await bundle('main.js', 'esm', [ownLoader]);
if (isLoaded) await bundle('app/process/run-process.js', 'cjs', [importsElsewhere]);

async function bundle(input, format, plugins) {
  const made = await rolldown({
    input: join(DIST, input),
    platform: 'node',
    external: OPTIONAL,
    plugins: [ownPlaces, ...plugins],
    // A package that is missing, say: a bundle that is not whole is not made.
    onLog(level, log) {
      if (level === 'warn') throw new Error(log.message);
    },
  });
  const extension = format === 'esm' ? 'js' : 'cjs';
  const { output } = await made.write({
    dir: OUT,
    format,
    // As modules are.
    strict: true,
    sourcemap: true,
    // Nest and the logs know classes by their names.
    keepNames: true,
    // Licences stay.
    comments: { legal: true, annotation: false, jsdoc: false },
    entryFileNames: `[name].${extension}`,
    chunkFileNames: `[name]-[hash].${extension}`,
  });
  await made.close();
  for (const { type, fileName } of output) if (type === 'chunk') inAscii(join(OUT, fileName));
}

/**
 * V8 keeps a program whose text is Latin-1 in half of the memory, and one dash of a message is enough for the other half; and
 * ASCII is the same bytes to whoever reads it. What is beyond is written as an escape, which means the same in strings,
 * templates and regular expressions.
 */
function inAscii(path) {
  const code = readFileSync(path, 'utf8');
  const escaped = code.replace(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  if (escaped !== code) writeFileSync(path, escaped);
}
