// Holds every answer of REST that a suite sees to the OpenAPI document: its status, its media type, its body.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { JsonObject, JsonValue } from '../../src/contract/json.ts';

type Answers = Readonly<Record<string, JsonObject>>;

const FILE = join(import.meta.dirname, '../../docs/reference/openapi.json');
const document = JSON.parse(readFileSync(FILE, 'utf8')) as JsonObject & {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses: Answers }>>>>;
};
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema({ ...document, $id: 'openapi' });
const validators = new Map<string, ValidateFunction>();

export interface SeenAnswer {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly status: number;
  /** The header content-type. */
  readonly type: string | null;
  readonly text: string;
}

export class UndocumentedAnswer extends Error {
  constructor({ method, path, status, text }: SeenAnswer, why: string) {
    super(`${method} ${path} answered ${status} ${text.slice(0, 2_000)}, and ${why}`);
  }
}

/** Throws UndocumentedAnswer where the document does not say what was answered. Of paths that no route has, nothing is asked. */
export function holdToDocument(answer: SeenAnswer): void {
  const path = answer.path.split('?')[0] ?? '';
  const template = templateOf(path);
  const method = answer.method.toLowerCase();
  const operation = template === undefined ? undefined : document.paths[template]?.[method];
  if (template === undefined || operation === undefined || isBeforeTheDoor(answer)) return;
  const status = [String(answer.status), 'default'].find((each) => operation.responses[each] !== undefined);
  if (status === undefined)
    throw new UndocumentedAnswer(answer, `the document knows no status ${answer.status}`);
  const steps = ['paths', template, method, 'responses', status];
  const { place, content } = contentAt(steps, operation.responses[status] ?? {});
  const type = answer.type?.split(';')[0] ?? '';
  if (content === undefined && answer.text === '') return;
  if (content?.[type] === undefined)
    throw new UndocumentedAnswer(answer, `the document knows no ${type} there`);
  if (!type.endsWith('json')) return;
  const validate = validatorAt([...place, 'content', type, 'schema']);
  const body: unknown = JSON.parse(answer.text);
  if (!validate(body)) throw new UndocumentedAnswer(answer, ajv.errorsText(validate.errors));
}

/** The one without a parameter first, as routes are found. */
function templateOf(path: string): string | undefined {
  return path in document.paths ? path : Object.keys(document.paths).find((each) => isOf(each, path));
}

/** What answers while the gateway is not ready yet knows no routes. */
function isBeforeTheDoor({ status, type, text }: SeenAnswer): boolean {
  return status === 503 && type === 'application/json' && text.startsWith('{"status":"unavailable"');
}

function isOf(template: string, path: string): boolean {
  const [wanted, steps] = [template.split('/'), path.split('/')];
  return (
    wanted.length === steps.length &&
    wanted.every((step, index) => step.startsWith('{') || step === steps[index])
  );
}

function contentAt(steps: readonly string[], answer: JsonObject) {
  const { $ref: ref } = answer;
  const place = typeof ref === 'string' ? ref.slice(2).split('/') : steps;
  const found = place.reduce<JsonValue | undefined>(
    (at, step) => (at as JsonObject | undefined)?.[step],
    document as JsonObject,
  );
  return { place, content: (found as JsonObject | undefined)?.['content'] as JsonObject | undefined };
}

function validatorAt(steps: readonly string[]): ValidateFunction {
  const pointer = steps.map((step) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1')));
  const ref = `openapi#/${pointer.join('/')}`;
  const validate = validators.get(ref) ?? ajv.compile({ $ref: ref });
  validators.set(ref, validate);
  return validate;
}
