"""Two small institutions, written by hand in the development forms."""

from __future__ import annotations

from types import MappingProxyType

from framework.records import FactField, TaskCard

LOAN = TaskCard(
    instruction="Decide the application under the policy in the record.",
    query="Should the application be approved?",
    decisions=("APPROVE", "DENY"),
    default_decision="DENY",
    verbs=MappingProxyType({"APPROVE": "approve", "DENY": "deny", "ABSTAIN": "refer"}),
    fields=(
        FactField(key="income", label="gross annual income", type="money", aliases=("yearly pay",)),
        FactField(key="debt", label="total monthly debt", type="money"),
        FactField(
            key="dti",
            label="debt-to-income ratio",
            type="percent",
            formula="100 * debt / (income / 12)",
        ),
        FactField(key="score", label="credit score", type="score"),
        FactField(key="value", label="appraised value", type="money"),
        FactField(key="amount", label="loan amount", type="money"),
        FactField(key="occupancy", label="occupancy", type="category"),
    ),
    notice="Your application: we {decision}.\nReasons: {reasons}.\n"
    "Rules {provisions}: {provision_text}\nIncome: {fact:income}; value: {fact:value}.",
)
LOAN_POLICY = """\
2026-01-05 | Lending policy | Northgate Credit
UP-1. Deny if the debt-to-income ratio is above 43%; reason: excessive obligations.
UP-2. Deny where the credit score is below 640; reason: limited credit experience.
UP-3. If the loan amount is above the appraised value, deny; reason: insufficient collateral.
UP-4. Refer if the occupancy is not one of owner-occupied, second home or rental.
Rules in force: UP-1, UP-2, UP-3, UP-4. Precedence: deny, refer, approve. If no rule applies, \
approve."""
LOAN_FACTS = """\
2026-03-02 | Application | Hollis Reed
Gross annual income: $120,000
Total monthly debt: $3,000
Loan amount: $300,000
Occupancy: owner-occupied
2026-03-05 | Credit report summary | Bureau One
The credit score is 702. Thank you for your business.
2026-03-09 | Appraisal report | Mills Appraisals
We inspected the home and report an appraised value of $350,000 for it."""

CLAIM = TaskCard(
    instruction="Decide the claim under the policy in the record.",
    query="Should the claim be paid?",
    decisions=("PAY", "PARTIAL_PAY", "DENY"),
    default_decision="PAY",
    verbs=MappingProxyType(
        {"PAY": "pay", "PARTIAL_PAY": "pay in part", "DENY": "deny", "ABSTAIN": "refer"}
    ),
    fields=(
        FactField(key="loss_date", label="date of loss", type="date"),
        FactField(key="start", label="policy effective date", type="date"),
        FactField(key="notice_date", label="date of notice", type="date"),
        FactField(
            key="delay", label="days to notice", type="count", formula="notice_date - loss_date"
        ),
        FactField(key="loss", label="verified loss", type="money", aliases=("amount of damage",)),
        FactField(key="limit", label="coverage limit", type="money"),
        FactField(key="deductible", label="deductible", type="money"),
        FactField(key="policy_number", label="policy number", type="identifier"),
    ),
    amounts=MappingProxyType(
        {
            "PAY": "max(0, loss - deductible)",
            "PARTIAL_PAY": "max(0, limit - deductible)",
            "DENY": "0",
        }
    ),
    notice="We {decision}: {amount}. {reasons}",
)
CLAIM_POLICY = """\
2026-01-05 | Claims manual | Delta Mutual
Condition 4.1. Deny if the date of loss is before the policy effective date; reason: loss before \
the policy began.
Condition 4.2. Deny if the days to notice is above 30 days; reason: late notice.
Exclusion 9. Pay in part if the verified loss is above the coverage limit; reason: loss exceeds \
the limit.
Rules in force: Condition 4.1, Condition 4.2, Exclusion 9.
Precedence: deny, pay in part, pay.
If no rule applies, pay."""
CLAIM_FACTS = """\
2026-04-20 | First notice of loss | J. Ortiz
Date of loss: April 2, 2026. Date of notice: 04/20/2026. Policy number: POL-716597.
2026-04-22 | Declarations | Delta Mutual
The policy effective date is 2026-01-01. The coverage limit is $50,000 and the deductible was \
$1,000.
2026-05-01 | Adjuster's report | K. Wu
Repairs are priced with a verified loss of $42,500.50 in the kitchen."""
