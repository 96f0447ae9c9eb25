// OwnSpecs: the definitions in the database for executors, which are made before the registry that judges what they add.
import type { JsonObject } from '../../contract/json.ts';
import type { SpecControl, SpecEdit, SpecOutcome } from '../../ports/registry/spec-control.ts';

type Control = Pick<SpecControl, 'check' | 'put' | 'disable'>;

export class OwnSpecs implements Control {
  #control: Control | undefined;

  bind(control: Control): void {
    this.#control = control;
  }

  async check(name: string, document: JsonObject) {
    return this.#bound().check(name, document);
  }

  async put(name: string, document: JsonObject, edit: SpecEdit): Promise<SpecOutcome> {
    return this.#bound().put(name, document, edit);
  }

  async disable(name: string, edit: SpecEdit): Promise<SpecOutcome> {
    return this.#bound().disable(name, edit);
  }

  #bound(): Control {
    if (this.#control === undefined) throw new Error('no call runs before the registry is there');
    return this.#control;
  }
}
