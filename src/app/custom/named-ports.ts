// The ports of an operator's own plugin: those that it names, and no others, at run time too.
import { didYouMean } from '../../lib/text/did-you-mean.ts';

/**
 * What `create` is given. Reading a port that `needs` does not name throws Error, which ends the start; so does a name that
 * is no port. `settings` of an executor are its own, and need no naming.
 */
export function namedPorts<Ports extends object>(ports: Ports, needs: readonly string[], who: string): Ports {
  const known = Object.keys(ports).filter((name) => name !== OWN);
  for (const name of needs) {
    if (known.includes(name)) continue;
    const near = didYouMean(name, known);
    const hint = near === undefined ? '' : `; did you mean "${near}"?`;
    throw new Error(`${who}: needs: there is no port "${name}"${hint} Known: ${known.toSorted().join(', ')}`);
  }
  const given: object = {};
  for (const [name, value] of Object.entries(ports)) {
    const isGiven = name === OWN || needs.includes(name);
    Object.defineProperty(
      given,
      name,
      isGiven ? { value, enumerable: true } : { get: () => refuse(name, who) },
    );
  }
  return given as Ports;
}

const OWN = 'settings';

function refuse(name: string, who: string): never {
  throw new Error(
    `${who}: create() reads the port "${name}" without naming it: add needs: ['${name}'] to the plugin`,
  );
}
