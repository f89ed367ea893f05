import { type Condition, condition } from "../table/condition.ts";

/**
 * The condition that a row's attributes are still as they were read. A value `undefined` means that the row
 * must not have the attribute.
 */
export const asRead = (attributes: Record<string, unknown>): Condition => {
  const entries = Object.entries(attributes).map(([name, value], index) => ({
    name,
    value,
    placeholder: `read${index}`,
  }));
  return {
    ...condition(
      entries
        .map(({ value, placeholder }) =>
          value === undefined ? `attribute_not_exists(#${placeholder})` : `#${placeholder} = :${placeholder}`,
        )
        .join(" AND "),
      Object.fromEntries(
        entries.flatMap(({ value, placeholder }) => (value === undefined ? [] : [[placeholder, value]])),
      ),
    ),
    names: Object.fromEntries(entries.map(({ name, placeholder }) => [placeholder, name])),
  };
};
