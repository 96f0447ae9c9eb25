// A toolset as gateway.yaml describes it, and what turns out to be wrong with that once the tools are known.
import type { JsonValue } from '../../contract/json.ts';

export interface ToolsetDefinition {
  readonly description?: string | undefined;
  /** Left out: every tool. */
  readonly include?: Selection | undefined;
  readonly exclude?: Selection | undefined;
  readonly tenants?: readonly string[] | undefined;
  readonly agents?: readonly string[] | undefined;
  /** By the name of the function. */
  readonly overrides: Readonly<Record<string, ToolOverride>>;
  readonly listing: 'full' | 'search';
}

/** A tool is meant that one of them names. */
export interface Selection {
  readonly tools?: readonly string[] | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly categories?: readonly string[] | undefined;
}

export interface ToolOverride {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly fixed?: Readonly<Record<string, JsonValue>> | undefined;
  readonly hidden?: readonly string[] | undefined;
}

/** What an operator should know: a loader may bring later what is missing now. */
export interface ToolsetWarning {
  readonly toolset: string;
  /** In gateway.yaml. */
  readonly path: readonly string[];
  readonly message: string;
}
