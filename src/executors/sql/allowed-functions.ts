// Which functions a statement may call: those whose result depends on their arguments, and those that are listed here.
import {
  AGENT_SETTING,
  TENANT_SETTING,
  USER_SETTING,
  type SqlFunction,
} from '../../ports/egress/sql-databases.ts';

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/**
 * PostgreSQL's own that read the clock, the time zone, the locale or the catalog's types, and no rows, settings,
 * files, locks or other sessions. All that it calls IMMUTABLE need not be here.
 */
const STABLE = words(`
  age convert convert_from convert_to date date_add date_part date_subtract date_trunc extract in_range interval_pl_timestamptz
  generate_series make_timestamptz now overlaps statement_timestamp time timestamp timestamptz timetz timezone
  timestamptz_mi_interval timestamptz_pl_interval to_char to_date to_number to_timestamp transaction_timestamp
  date_cmp_timestamptz date_eq_timestamptz date_ge_timestamptz date_gt_timestamptz date_le_timestamptz
  date_lt_timestamptz date_ne_timestamptz timestamptz_cmp_date timestamptz_eq_date timestamptz_ge_date
  timestamptz_gt_date timestamptz_le_date timestamptz_lt_date timestamptz_ne_date
  timestamp_cmp_timestamptz timestamp_eq_timestamptz timestamp_ge_timestamptz timestamp_gt_timestamptz
  timestamp_le_timestamptz timestamp_lt_timestamptz timestamp_ne_timestamptz timestamptz_cmp_timestamp
  timestamptz_eq_timestamp timestamptz_ge_timestamp timestamptz_gt_timestamp timestamptz_le_timestamp
  timestamptz_lt_timestamp timestamptz_ne_timestamp
  anytextcat textanycat array_to_string concat concat_ws format length money numeric pg_column_size pg_collation_for
  pg_typeof quote_literal quote_nullable current_database current_schema current_user session_user version
  enum_first enum_last enum_range array_to_json row_to_json to_json to_jsonb
  json_agg json_agg_strict json_build_array json_build_object json_object_agg json_object_agg_strict
  json_object_agg_unique json_object_agg_unique_strict json_populate_record json_populate_recordset json_to_record
  json_to_recordset json_to_tsvector jsonb_agg jsonb_agg_strict jsonb_build_array jsonb_build_object
  jsonb_path_exists_tz jsonb_path_match_tz jsonb_path_query_array_tz jsonb_path_query_first_tz jsonb_path_query_tz
  jsonb_populate_record jsonb_populate_record_valid jsonb_populate_recordset jsonb_to_record jsonb_to_recordset
  jsonb_to_tsvector
  phraseto_tsquery plainto_tsquery to_tsquery to_tsvector ts_headline ts_match_tq ts_match_tt websearch_to_tsquery
  xml xml_is_well_formed
`);

const VOLATILE = words(`
  array_sample array_shuffle clock_timestamp gen_random_uuid random random_normal timeofday uuidv4 uuidv7
  bernoulli system suppress_redundant_updates_trigger tsvector_update_trigger tsvector_update_trigger_column
`);

/** PostgreSQL's own that wait, lock or signal until the transaction ends: for whoever names them in trusted_functions. */
const TRUSTABLE = words(`
  pg_sleep pg_sleep_for pg_sleep_until pg_notify pg_current_xact_id txid_current
  pg_advisory_xact_lock pg_advisory_xact_lock_shared pg_try_advisory_xact_lock pg_try_advisory_xact_lock_shared
`);

/** Of the catalog, of sizes and of statistics: for statements on data without tenants. */
const ADMINISTRATIVE =
  /^(?:pg_stat_get_.+|pg_(?:database|indexes|relation|table|tablespace|total_relation)_size|pg_get_.+def|pg_get_(?:expr|userbyid|serial_sequence)|has_.+_privilege|(?:col|obj|shobj)_description|format_type|to_reg.+|current_schemas|pg_is_in_recovery|pg_postmaster_start_time|pg_conf_load_time|pg_backend_pid)$/;

/** Called IMMUTABLE by PostgreSQL, though what they give or complain of are names of roles and tables. */
const TELLING = words('acldefault makeaclitem pg_partition_root satisfies_hash_partition');

/** Whose call it is. */
const WHOSE: ReadonlySet<string> = new Set([TENANT_SETTING, AGENT_SETTING, USER_SETTING]);

/** Others may hold what is nobody's business, as keys that functions of the database use. */
const READABLE_SETTINGS: ReadonlySet<string | undefined> = new Set([
  TENANT_SETTING,
  AGENT_SETTING,
  USER_SETTING,
  'timezone',
  'server_version',
  'server_version_num',
]);

/** Of well-known extensions, what is neither immutable nor reads more than its own settings and dictionaries. */
const EXTENSIONS = words(
  'btree_gin btree_gist citext cube earthdistance fuzzystrmatch hstore intarray isn ltree pg_trgm seg unaccent vector',
);
const OF_EXTENSIONS: Readonly<Record<string, ReadonlySet<string>>> = {
  pgcrypto: words('gen_random_bytes gen_random_uuid gen_salt'),
  'uuid-ossp': words('uuid_generate_v1 uuid_generate_v1mc uuid_generate_v4'),
};

/** Settings that change what a function sees or may do are not among these. */
const HARMLESS_SETTINGS = words('search_path datestyle intervalstyle timezone work_mem jit');

/** Undefined: it may be called. Else a sentence on why not, for the operator. */
export function functionFault(
  fn: SqlFunction,
  tenant: 'bound' | 'none',
  trusted: readonly string[],
): string | undefined {
  if (fn.builtin) return builtinFault(fn, tenant, trusted);
  const { name, language, opaque, securityDefiner, settings } = fn;
  if (tenant === 'bound' && isKept(fn)) {
    return `the function ${name} is declared IMMUTABLE, but ${fn.changingPart ?? 'cannot be seen, and is called with constants alone'}: a prepared statement would keep what it gave to one tenant for all others: ALTER FUNCTION ${name} STABLE`;
  }
  if (trusted.includes(name)) return undefined;
  if (language === 'c' || language === 'internal') return compiledFault(fn);
  // Without a tenant none may be taken either.
  const posed = settings.find((setting) => WHOSE.has(setting.toLowerCase()));
  if (posed !== undefined) return `the function ${name} runs as somebody else (SET ${posed})`;
  if (tenant === 'none') return undefined;
  if (securityDefiner) return `the function ${name} runs with its owner's rights (SECURITY DEFINER)`;
  const changed = settings.find((setting) => !HARMLESS_SETTINGS.has(setting.toLowerCase()));
  if (changed !== undefined) return `the function ${name} runs with a setting of its own (SET ${changed})`;
  if (opaque) {
    return `what the function ${name} reaches cannot be seen: write its body as BEGIN ATOMIC, or list it in trusted_functions`;
  }
  return undefined;
}

/** Statements stay prepared from one tenant's call to the next. Compiled code of extensions is believed. */
function isKept({ volatility, changingPart, opaque, foldable }: SqlFunction): boolean {
  return volatility === 'immutable' && (changingPart !== undefined || (opaque && foldable));
}

function builtinFault(
  fn: SqlFunction,
  tenant: 'bound' | 'none',
  trusted: readonly string[],
): string | undefined {
  const { name, plainName, volatility, firstArguments } = fn;
  const isPlain = volatility === 'immutable' && !TELLING.has(plainName);
  if (isPlain || STABLE.has(plainName) || VOLATILE.has(plainName)) return undefined;
  if (plainName === 'current_setting') {
    const others = firstArguments.filter((setting) => !READABLE_SETTINGS.has(setting?.toLowerCase()));
    return others.length === 0
      ? undefined
      : `current_setting may read '${TENANT_SETTING}', '${AGENT_SETTING}', '${USER_SETTING}' and the time zone alone`;
  }
  if (plainName === 'nextval') {
    const isFixed = firstArguments.every((sequence) => sequence !== undefined);
    return isFixed ? undefined : 'nextval needs the name of its sequence as a constant';
  }
  if (tenant === 'none' && ADMINISTRATIVE.test(plainName)) return undefined;
  if (!TRUSTABLE.has(plainName)) return `the function ${name} is not for tools`;
  if (trusted.includes(name)) return undefined;
  return `the function ${name} holds, locks or tells others something: list it in trusted_functions if that is meant`;
}

/** Compiled code can be made by superusers alone; what it says of itself is believed of extensions, and of nobody else. */
function compiledFault({ name, plainName, volatility, extension }: SqlFunction): string | undefined {
  const isKnown =
    extension !== undefined &&
    (volatility === 'immutable' ||
      (volatility === 'stable' && EXTENSIONS.has(extension)) ||
      (Object.hasOwn(OF_EXTENSIONS, extension) && OF_EXTENSIONS[extension]?.has(plainName) === true));
  return isKnown
    ? undefined
    : `what the function ${name} reaches cannot be seen, as it is compiled: list it in trusted_functions if it may be called`;
}
