/**
 * The number of the policy's processors, for libraries that otherwise start a thread for each processor of the host. A
 * default: a value that the policy lets the job or the image set counts.
 */
export const threadVariables = ['OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS', 'NUMEXPR_NUM_THREADS'];

/** The same in every cell, whatever a job, an image or a policy says. */
export const fixedVariables: Readonly<Record<string, string>> = {
  HOME: '/work',
  TMPDIR: '/tmp',
  LANG: 'C.UTF-8',
  PYTHONUNBUFFERED: '1',
  HOTCELL_INPUTS: '/inputs',
  HOTCELL_OUTPUTS: '/outputs',
};

/** Of the variables that a job sets, those that count: none of Hotcell's own is among them. */
export function jobVariables(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => name !== 'PATH' && !Object.hasOwn(fixedVariables, name)),
  );
}

/**
 * Variables that Hotcell sets itself, or that change which code a loader or an interpreter runs: then other code would run
 * than the record says. No policy can let them through, neither from a job nor from an image.
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
