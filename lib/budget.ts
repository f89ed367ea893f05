import { CfnBudget } from "aws-cdk-lib/aws-budgets";
import type { Construct } from "constructs";

/**
 * A budget of the whole account, whose costs AWS updates a few times a day. It mails when the month is
 * expected to cost more, and when it does.
 */
export function addBudget(scope: Construct, name: string, dollars: number, email: string): void {
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
