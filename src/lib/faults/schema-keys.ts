// The keys that a zod schema allows at a path of its value: what a misspelt key may have meant.
import type { z } from 'zod';

type Path = readonly (string | number)[];
type Schema = z.core.$ZodType;

export function keysAt(schema: Schema, path: Path): readonly string[] {
  const [step, ...rest] = path;
  const forms = formsOf(schema);
  if (step !== undefined)
    return forms.flatMap((form) => childrenAt(form, step)).flatMap((child) => keysAt(child, rest));
  return [
    ...new Set(forms.flatMap((form) => (form.def.type === 'object' ? Object.keys(shapeOf(form)) : []))),
  ];
}

interface Form {
  readonly def: z.core.$ZodTypeDef;
}

/** A schema without its wrappers (defaults, optionals, pipes); of a union, each of its options. */
function formsOf(schema: Schema): readonly Form[] {
  const def = schema._zod.def as z.core.$ZodTypeDef & {
    readonly innerType?: Schema;
    readonly in?: Schema;
    readonly options?: readonly Schema[];
    readonly left?: Schema;
    readonly right?: Schema;
  };
  if (def.innerType !== undefined) return formsOf(def.innerType);
  if (def.in !== undefined) return formsOf(def.in);
  const members = [...(def.options ?? []), def.left, def.right].filter((member) => member !== undefined);
  return members.length > 0 ? members.flatMap(formsOf) : [{ def }];
}

function childrenAt({ def }: Form, step: string | number): readonly Schema[] {
  const { element, valueType } = def as { readonly element?: Schema; readonly valueType?: Schema };
  if (def.type === 'array' && element !== undefined) return [element];
  if (def.type === 'record' && valueType !== undefined) return [valueType];
  if (def.type !== 'object') return [];
  const child = shapeOf({ def })[String(step)];
  return child === undefined ? [] : [child];
}

function shapeOf({ def }: Form): Readonly<Record<string, Schema>> {
  return (def as { readonly shape?: Readonly<Record<string, Schema>> }).shape ?? {};
}
