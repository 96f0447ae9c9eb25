// JSON pointers (RFC 6901): how an error names a place inside a value.

export type JsonPath = readonly (string | number)[];

export function toPointer(path: JsonPath): string {
  let pointer = '';
  for (const step of path) pointer = childPointer(pointer, step);
  return pointer;
}

export function childPointer(parent: string, step: string | number): string {
  return `${parent}/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** The steps of a pointer. The empty pointer is the whole value and has none. */
export function fromPointer(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}
