/** Does what sets environment variables, and takes these back afterwards, since later arms would find servers that are gone. */
export const keepingEnvironment = async <R>(act: () => Promise<R>): Promise<R> => {
  const environment = { ...process.env };
  try {
    return await act();
  } finally {
    for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
    Object.assign(process.env, environment);
  }
};
