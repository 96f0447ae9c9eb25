// zod schemas as the JSON Schema of an OpenAPI 3.1 document: components by reference, all others in place.
import { z } from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json.ts';
import { allComponents, componentName, type Shape } from '../route/shapes.ts';

export class JsonSchemas {
  readonly #all = z.registry<{ id: string }>();
  readonly #ids: string[] = [];
  #made: JsonObject | undefined;

  /** Of a shape that is in the document: what stands in its place, once `write` has been called. */
  add(of: Shape | z.ZodType): () => JsonObject {
    const schema = typeof of === 'function' ? of() : of;
    const component = componentName(schema);
    if (component !== undefined) return () => ({ $ref: refTo(component) });
    const id = `inline:${this.#ids.length}`;
    this.#ids.push(id);
    this.#all.add(schema, { id });
    return () => withoutIds(this.#made?.[id]);
  }

  /** The components, by name. Each schema is written once, so that references among them hold. */
  write(): JsonObject {
    const components = [...allComponents()].toSorted(([, one], [, other]) => (one < other ? -1 : 1));
    for (const [schema, id] of components) this.#all.add(schema, { id });
    const { schemas } = z.toJSONSchema(this.#all, {
      io: 'input',
      unrepresentable: 'any',
      uri: refTo,
      override: ({ jsonSchema }) => plain(jsonSchema),
    });
    this.#made = schemas as JsonObject;
    return Object.fromEntries(components.map(([, id]) => [id, withoutIds(this.#made?.[id])]));
  }
}

function refTo(id: string): string {
  return `#/components/schemas/${id}`;
}

/** What zod says of how it reads a value says nothing to a client. */
function plain(schema: z.core.JSONSchema.BaseSchema): void {
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  delete schema.readOnly;
  delete schema.propertyNames;
}

function withoutIds(made: JsonValue | undefined): JsonObject {
  if (!isJsonObject(made)) throw new Error('a schema was asked for before the document was written');
  const { $schema: _schema, $id: _id, ...schema } = made;
  return schema;
}
