// Checks a statement against its database, once: at load, or at the first call when there was no server at load.
import type { JsonObject } from '../../contract/json.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type {
  SqlDatabase,
  SqlInspection,
  SqlStatement,
  TenantForm,
} from '../../ports/egress/sql-databases.ts';
import { functionFault } from './allowed-functions.ts';
import { isolationFaults } from './check-isolation.ts';
import { compileArguments } from './compile-statement.ts';

export interface CheckOptions {
  readonly tenant: 'bound' | 'none';
  readonly trusted_functions?: readonly string[] | undefined;
  readonly trusted_policies?: readonly string[] | undefined;
  readonly trusted_foreign_keys?: readonly string[] | undefined;
}

export interface PassedStatement {
  readonly encode: (args: JsonObject) => readonly (string | null)[];
  /** What policies read the tenant as. */
  readonly tenantForms: readonly TenantForm[];
}

export class StatementCheck {
  readonly #database: SqlDatabase;
  readonly #statement: SqlStatement;
  readonly #names: readonly string[];
  readonly #options: CheckOptions;
  #passed: PassedStatement | undefined;
  #running: Promise<PassedStatement> | undefined;

  constructor(
    database: SqlDatabase,
    statement: SqlStatement,
    names: readonly string[],
    options: CheckOptions,
  ) {
    this.#database = database;
    this.#statement = statement;
    this.#names = names;
    this.#options = options;
  }

  /** Set once the statement has passed. */
  get passed(): PassedStatement | undefined {
    return this.#passed;
  }

  /** Throws ToolFailure UNAVAILABLE without a server, and Error with a sentence for the operator. */
  async run(): Promise<PassedStatement> {
    const { tenant } = this.#options;
    const inspection = await this.#database.inspect(
      this.#statement,
      tenant === 'bound' ? 'isolation' : 'shape',
    );
    refuseShape(inspection, this.#statement);
    this.#refuseReach(inspection);
    this.#passed = {
      encode: compileArguments(this.#names, inspection.parameterTypes),
      tenantForms: inspection.isolation?.tenantForms ?? [],
    };
    return this.#passed;
  }

  #refuseReach({ functions, isolation }: SqlInspection): void {
    const { tenant, trusted_functions: trusted = [] } = this.#options;
    const { trusted_policies: policies, trusted_foreign_keys: keys } = this.#options;
    const ofFunctions = functions.flatMap((one) => functionFault(one, tenant, trusted) ?? []);
    if (tenant === 'none') {
      if (ofFunctions.length > 0)
        throw new Error(`The statement calls what it may not: ${ofFunctions.join('; ')}.`);
      return;
    }
    if (isolation === undefined) throw new Error('The database did not say what the statement reaches.');
    const faults = [...isolationFaults(isolation, policies, keys), ...ofFunctions];
    if (faults.length > 0) throw new Error(`The tenants' rows are not kept apart: ${faults.join('; ')}.`);
  }

  /** For a call: many at once make one check, and the operator's sentence stays in the log. */
  async pass(): Promise<PassedStatement> {
    this.#running ??= this.run().finally(() => (this.#running = undefined));
    try {
      return await this.#running;
    } catch (cause) {
      if (cause instanceof ToolFailure) throw cause;
      throw toolFailure('STATEMENT_REFUSED', "This tool's statement did not pass the gateway's checks.", {
        retryable: false,
        partialSideEffects: false,
        cause,
      });
    }
  }
}

function refuseShape({ columns, writes: changes }: SqlInspection, { writes }: SqlStatement): void {
  if (changes && !writes) {
    throw new Error(
      'The statement changes or locks rows: that needs writes: true, and a tool that is not read_only.',
    );
  }
  if (columns === undefined && !writes) throw new Error('The statement gives no rows.');
  const twice = columns?.find((name, index) => columns.indexOf(name) !== index);
  if (twice !== undefined)
    throw new Error(`Two columns are named "${twice}": give each a name of its own with AS.`);
  if (columns?.includes('__proto__')) throw new Error('No column may be named "__proto__".');
}
