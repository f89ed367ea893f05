/** Gives the process these variables and no others. The object `process.env` stays, because others keep a reference to it. */
export const resetEnvironment = (environment: NodeJS.ProcessEnv): void => {
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
};
