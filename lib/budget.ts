import { CfnBudget } from "aws-cdk-lib/aws-budgets";
import type { Construct } from "constructs";
import { InvalidOption } from "./options.ts";

/**
 * A budget of the whole account, whose costs AWS updates a few times a day. It mails when the month is expected to cost more, and when it does.
 * Throws without an address.
 */
export function addBudget(scope: Construct, name: string, dollars: number, email: string | undefined): void {
  if (email === undefined)
    throw new InvalidOption("monthlyBudgetDollars needs alarmEmail, the address that it notifies");
  new CfnBudget(scope, "Budget", {
    budget: {
      budgetName: name,
      budgetType: "COST",
      timeUnit: "MONTHLY",
      budgetLimit: { amount: dollars, unit: "USD" },
    },
    notificationsWithSubscribers: ["FORECASTED", "ACTUAL"].map((notificationType) => ({
      notification: {
        notificationType,
        comparisonOperator: "GREATER_THAN",
        threshold: 100,
        thresholdType: "PERCENTAGE",
      },
      subscribers: [{ subscriptionType: "EMAIL", address: email }],
    })),
  });
}
