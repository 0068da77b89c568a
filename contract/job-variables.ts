import type { LimitName } from './limits.ts';

const day = 86_400;
const kib = 1024;
const gib = 1024 ** 3;

export interface Range {
  min: number;
  max: number;
}

/** The hard ceiling: no policy can say more, so that a slip in a policy stays inside what a cell was proven with. */
export const limitCeiling: Readonly<Record<LimitName, Range>> = {
  timeoutSeconds: { min: 1, max: 7 * day },
  blockTimeoutSeconds: { min: 1, max: 7 * day },
  graceSeconds: { min: 0, max: 300 },
  memoryBytes: { min: 32 * kib * kib, max: 1024 * gib },
  cpus: { min: 0.05, max: 256 },
  pids: { min: 8, max: 32_768 },
  // Hosts without CAP_SYS_RESOURCE cap the number of open files at 20,000.
  openFiles: { min: 32, max: 16_384 },
  fileBytes: { min: 1, max: 1024 * gib },
  logBytes: { min: 0, max: 16 * gib },
  outputBytes: { min: 0, max: 256 * gib },
  outputFiles: { min: 0, max: 1_000_000 },
  scratchBytes: { min: 64 * kib, max: 256 * gib },
  scratchInodes: { min: 16, max: 16_000_000 },
};

export const inputCeiling = { count: 64, bytes: 16 * 1024 * gib, files: 10_000_000 } as const;
export const envCeiling = { variables: 128, bytes: 64 * kib } as const;

/**
 * Variables that change which code a loader or an interpreter runs, or that are ours. What ran would not be what was
 * signed, so no policy can let them through, neither from a job nor from an image.
 */
const neverPrefixes = ['LD_', 'DYLD_', 'HOTCELL_', 'BASH_FUNC_', 'MALLOC_', '_RLD', 'NPM_CONFIG_', 'npm_config_'];
const never = new Set(
  `
  PATH HOME TMPDIR LANG PYTHONUNBUFFERED _ PWD OLDPWD SHLVL USER LOGNAME SHELL BASH_ENV ENV IFS CDPATH PS4
  PROMPT_COMMAND SHELLOPTS BASHOPTS POSIXLY_CORRECT NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS
  NODE_REPL_EXTERNAL_MODULE PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONINSPECT PYTHONUSERBASE PYTHONBREAKPOINT
  PYTHONEXECUTABLE PYTHONPLATLIBDIR PYTHONWARNINGS PYTHONPYCACHEPREFIX PERL5LIB PERL5OPT PERLLIB PERL5DB
  RUBYLIB RUBYOPT LUA_INIT LUA_PATH LUA_CPATH R_HOME R_LIBS R_LIBS_USER R_LIBS_SITE R_PROFILE R_PROFILE_USER
  R_ENVIRON R_ENVIRON_USER JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS CLASSPATH DOTNET_STARTUP_HOOKS
  PSModulePath GLIBC_TUNABLES GCONV_PATH LOCPATH NLSPATH HOSTALIASES LOCALDOMAIN RES_OPTIONS TZDIR
  `
    .trim()
    .split(/\s+/),
);

export function isNeverVariable(name: string): boolean {
  return never.has(name) || neverPrefixes.some((prefix) => name.startsWith(prefix));
}
